/* speak STATUS: repeats its input on stdout, says a line on stderr, and exits with STATUS. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int c;
  while ((c = getchar()) != EOF) putchar(c);
  fputs("words on stderr\n", stderr);
  return argc > 1 ? atoi(argv[1]) : 0;
}
