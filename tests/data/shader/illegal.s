s_nop 0
.long 0xbfff0000 // SOPP operation 0x7f: none
s_endpgm
