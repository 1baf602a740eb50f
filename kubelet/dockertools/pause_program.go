package dockertools

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"testing/fstest"
)

// The pause program sleeps for ever. It is the only process of a network container, and
// the network of a pod's containers exists for as long as it lives. The file has an ELF
// header, a program header and a few machine instructions:
//
//	  0 ┌────────────────┐ ◀─ loaded as one segment, at pauseAddress
//	    │ ELF header     │    which machine, where to start
//	 64 ├────────────────┤
//	    │ program header │    which part of the file to load where
//	120 ├────────────────┤ ◀─ pauseEntry
//	    │ machine code   │
//	    └────────────────┘
const (
	pauseAddress = 0x400000 // the start of a page, both with pages of 4 KB and of 64 KB
	pauseEntry   = 120
)

// pauseAMD64 waits in pause(2), which returns only after a signal handler ran. There are none; the loop is for safety.
var pauseAMD64 = []byte{
	0xb8, 0x22, 0x00, 0x00, 0x00, // loop: mov eax, 34    the number of pause
	0x0f, 0x05, //                         syscall
	0xeb, 0xf7, //                         jmp loop       9 bytes back
}

// pauseARM64 waits in ppoll(2) with no files and no timeout, since ARM64 has no pause(2).
var pauseARM64 = []byte{
	0x00, 0x00, 0x80, 0xd2, // loop: mov x0, #0     fds: none
	0x01, 0x00, 0x80, 0xd2, //       mov x1, #0     how many: 0
	0x02, 0x00, 0x80, 0xd2, //       mov x2, #0     timeout: none
	0x03, 0x00, 0x80, 0xd2, //       mov x3, #0     signal mask: unchanged
	0x28, 0x09, 0x80, 0xd2, //       mov x8, #73    the number of ppoll
	0x01, 0x00, 0x00, 0xd4, //       svc #0         the system call
	0xfa, 0xff, 0xff, 0x17, //       b loop         6 instructions back
}

// PauseCommand is the entrypoint for PauseImage, since an imported image has none. As the first process in its
// container, the program receives no signal but SIGKILL, so this must be the container's stop signal.
func PauseCommand() []string { return []string{"/pause"} }

// pauseFiles returns the files of PauseImage.
func pauseFiles(daemon Info) (fstest.MapFS, error) {
	program, err := pauseProgram(daemon.OS, daemon.Arch)
	return fstest.MapFS{"pause": {Mode: 0o555, Data: program}}, err
}

// pauseProgram returns the executable for a system, given by Go's names.
func pauseProgram(os, arch string) ([]byte, error) {
	var machine elf.Machine
	var code []byte
	switch os + "/" + arch {
	case "linux/amd64":
		machine, code = elf.EM_X86_64, pauseAMD64
	case "linux/arm64":
		machine, code = elf.EM_AARCH64, pauseARM64
	default:
		return nil, fmt.Errorf("there is no built-in network container for a Docker on %s/%s: "+
			"name an image for it with -network_container_image", os, arch)
	}
	size := uint64(pauseEntry + len(code))
	header := elf.Header64{
		Ident:   [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:    uint16(elf.ET_EXEC), // at a fixed address
		Machine: uint16(machine),
		Version: uint32(elf.EV_CURRENT),
		Entry:   pauseAddress + pauseEntry,
		Phoff:   64, Ehsize: 64, Phentsize: pauseEntry - 64, Phnum: 1,
	}
	segment := elf.Prog64{
		Type:  uint32(elf.PT_LOAD),
		Flags: uint32(elf.PF_R | elf.PF_X),
		Vaddr: pauseAddress, Paddr: pauseAddress,
		Filesz: size, Memsz: size,
		Align: 0x10000,
	}
	program, err := binary.Append(nil, binary.LittleEndian, struct {
		elf.Header64
		elf.Prog64
	}{header, segment})
	return append(program, code...), err
}
