package dockertools

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// The pause program does nothing, for ever, and costs nothing while it does. It
// is the one process of a network container: as long as it lives, so does the
// network namespace that the pod's containers share.
//
// It is small enough to be written by hand: an ELF header, one program header,
// and a few machine instructions, which together are the whole file.
//
//	  0 ┌────────────────┐ ◀─ the segment: all of the file, at pauseAddress
//	    │ ELF header     │    which machine, where to start
//	 64 ├────────────────┤
//	    │ program header │    what of the file to put where in memory
//	120 ├────────────────┤ ◀─ pauseEntry
//	    │ machine code   │
//	    └────────────────┘

// pauseAddress is where in memory the file is put: where programs usually are,
// and the start of a page whatever the page size of the kernel (4 KB to 64 KB).
const pauseAddress = 0x400000

const pauseEntry = 120 // where in the file the code begins

// pauseAMD64 waits for a signal in pause(2). No signal is ever handled, so pause
// does not return; if it did, the loop would call it again.
var pauseAMD64 = []byte{
	0xb8, 0x22, 0x00, 0x00, 0x00, // loop: mov eax, 34    the number of pause
	0x0f, 0x05, //                         syscall
	0xeb, 0xf7, //                         jmp loop       9 bytes back
}

// pauseARM64 does the same. This machine's Linux has no pause; it waits in
// ppoll(2) for none of no files, without a time limit and a signal mask.
var pauseARM64 = []byte{
	0x00, 0x00, 0x80, 0xd2, // loop: mov x0, #0     fds: none
	0x01, 0x00, 0x80, 0xd2, //       mov x1, #0     how many: 0
	0x02, 0x00, 0x80, 0xd2, //       mov x2, #0     timeout: none
	0x03, 0x00, 0x80, 0xd2, //       mov x3, #0     signal mask: as it is
	0x28, 0x09, 0x80, 0xd2, //       mov x8, #73    the number of ppoll
	0x01, 0x00, 0x00, 0xd4, //       svc #0         the system call
	0xfa, 0xff, 0xff, 0x17, //       b loop         6 instructions back
}

// pauseProgram builds the executable for a daemon's system, named as Go names it.
func pauseProgram(os, arch string) ([]byte, error) {
	var machine elf.Machine
	var code []byte
	switch os + "/" + arch {
	case "linux/amd64":
		machine, code = elf.EM_X86_64, pauseAMD64
	case "linux/arm64":
		machine, code = elf.EM_AARCH64, pauseARM64
	default:
		return nil, fmt.Errorf("there is no built-in network container for a Docker on %s/%s: name an image for it with -network_container_image", os, arch)
	}

	size := uint64(pauseEntry + len(code))
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{
			0x7f, 'E', 'L', 'F',
			byte(elf.ELFCLASS64),  // 64-bit addresses
			byte(elf.ELFDATA2LSB), // lowest byte first
			byte(elf.EV_CURRENT),
		},
		Type:      uint16(elf.ET_EXEC), // fixed addresses
		Machine:   uint16(machine),
		Version:   uint32(elf.EV_CURRENT),
		Entry:     pauseAddress + pauseEntry,
		Phoff:     64,
		Ehsize:    64,
		Phentsize: pauseEntry - 64,
		Phnum:     1,
	}
	segment := elf.Prog64{
		Type:   uint32(elf.PT_LOAD),
		Flags:  uint32(elf.PF_R | elf.PF_X), // nothing in it is ever written
		Vaddr:  pauseAddress,
		Paddr:  pauseAddress,
		Filesz: size,
		Memsz:  size,
		Align:  0x10000,
	}
	// Fixed sizes into memory: Append has no way to fail.
	program, _ := binary.Append(nil, binary.LittleEndian, header)
	program, _ = binary.Append(program, binary.LittleEndian, segment)
	return append(program, code...), nil
}
