// Writes one entry of the table of files: the name in FILE, and the bytes, which end with a zero.

{FILE, (const char[]){
#embed FILE suffix(, 0)
}},
#undef FILE
