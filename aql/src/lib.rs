//! AMD's Architected Queuing Language: packets, signals, queues and kernel descriptors, as bytes
