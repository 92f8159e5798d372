/* The words of a dispatch and of an SDMA copy, written as plainly as C can: what the encoders are measured against.
   Layouts as in the crates pm4 (gfx1151) and sdma (6.1); the bench compares all words. */
#include <stddef.h>
#include <stdint.h>

struct dispatch {
    uint64_t code, arguments, fence, value;
    uint32_t rsrc1, rsrc2, rsrc3, threads[3], groups[3];
};

static uint32_t *dispatch(uint32_t *p, const struct dispatch *d)
{
    *p++ = 0xc0027600;
    *p++ = 0x20c;
    *p++ = (uint32_t)(d->code >> 8);
    *p++ = (uint32_t)(d->code >> 40);
    *p++ = 0xc0027600;
    *p++ = 0x212;
    *p++ = d->rsrc1;
    *p++ = d->rsrc2;
    *p++ = 0xc0017600;
    *p++ = 0x228;
    *p++ = d->rsrc3;
    *p++ = 0xc0037600;
    *p++ = 0x207;
    *p++ = d->threads[0];
    *p++ = d->threads[1];
    *p++ = d->threads[2];
    *p++ = 0xc0027600;
    *p++ = 0x240;
    *p++ = (uint32_t)d->arguments;
    *p++ = (uint32_t)(d->arguments >> 32);
    *p++ = 0xc0031500;
    *p++ = d->groups[0];
    *p++ = d->groups[1];
    *p++ = d->groups[2];
    *p++ = 0x8021;
    *p++ = 0xc0064900;
    *p++ = 0x00200514;
    *p++ = 0x42000000;
    *p++ = (uint32_t)d->fence;
    *p++ = (uint32_t)(d->fence >> 32);
    *p++ = (uint32_t)d->value;
    *p++ = (uint32_t)(d->value >> 32);
    *p++ = 0;
    return p;
}

/* As many dispatches as fit into `room` words; each with the next value. Returns how many words were written. */
size_t plain_dispatches(uint32_t *words, size_t room, struct dispatch *d)
{
    uint32_t *p = words;
    while (room - (size_t)(p - words) >= 33) {
        p = dispatch(p, d);
        d->value++;
    }
    return (size_t)(p - words);
}

struct copy {
    uint64_t from, to, fence;
    uint32_t bytes, value;
};

/* As many copies with a fence as fit into `room` words. Returns how many words were written. */
size_t plain_copies(uint32_t *words, size_t room, struct copy *c)
{
    uint32_t *p = words;
    while (room - (size_t)(p - words) >= 11) {
        *p++ = 1;
        *p++ = c->bytes - 1;
        *p++ = 0;
        *p++ = (uint32_t)c->from;
        *p++ = (uint32_t)(c->from >> 32);
        *p++ = (uint32_t)c->to;
        *p++ = (uint32_t)(c->to >> 32);
        *p++ = 0x30005;
        *p++ = (uint32_t)c->fence;
        *p++ = (uint32_t)(c->fence >> 32);
        *p++ = c->value;
        c->value++;
    }
    return (size_t)(p - words);
}
