/* Another tool, loaded behind the program: hears of sections, keeps a number in the 32 bytes from entry to exit, and says
 * at the end what it heard. */
#include <stdio.h>
#include <string.h>

static int entered, left, wrong;

int MPIX_Section_enter_cb(void *comm, const char *label, char data[32])
{
    (void)comm;
    for (int i = 0; i < 32; i++)
        wrong += data[i] != 0;
    memset(data, 'a' + (int)strlen(label) % 26, 32);
    entered++;
    return 0;
}

int MPIX_Section_leave_cb(void *comm, const char *label, char data[32])
{
    (void)comm;
    for (int i = 0; i < 32; i++)
        wrong += data[i] != 'a' + (int)strlen(label) % 26;
    left++;
    return 0;
}

__attribute__((destructor)) static void end(void)
{
    if (entered)
        printf("heard %d %d, wrong %d\n", entered, left, wrong);
}
