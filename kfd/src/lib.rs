//! Linux's AMD compute driver, /dev/kfd: its UAPI, its topology, and one type for each of its objects
