module mykubelet

go 1.26
