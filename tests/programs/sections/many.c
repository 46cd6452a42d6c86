/* More sections than can be told apart, each with a label of its own, and labels that are awkward. */
#include <stdio.h>
#include <string.h>
#include "falloff_sections.h"

int main(void)
{
    char label[200];
    memset(label, 'x', sizeof label - 1);
    label[sizeof label - 1] = 0;
    falloff_section_enter(label);
    falloff_section_exit(label);
    falloff_section_enter("");
    falloff_section_exit(0);
    falloff_section_enter("\xff;\n");
    falloff_section_exit("\xff;\n");
    for (int i = 0; i < 1500; i++) {
        snprintf(label, sizeof label, "section %d", i);
        falloff_section_enter(label);
        falloff_section_exit(label);
    }
    puts("done");
    return 0;
}
