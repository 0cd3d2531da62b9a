// Expands to one entry of the table of files: the name in FILE, and its zero-terminated bytes.

{FILE, (const char[]){
#embed FILE suffix(, 0)
}},
#undef FILE
