/* read_npy FILE: prints the type and shape of a NumPy array file, and its elements, one on a line. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char* path, const char* why) {
    fprintf(stderr, "%s: %s\n", path, why);
    return 1;
}

int main(int argc, char** argv) {
    const char* const path = argc > 1 ? argv[1] : "";
    FILE* const file = fopen(path, "rb");
    if (file == NULL) return fail(path, "cannot be opened");
    unsigned char prefix[12];
    if (fread(prefix, 1, 10, file) != 10 || memcmp(prefix, "\x93NUMPY", 6) != 0)
        return fail(path, "is no NumPy array file");
    size_t length = prefix[8] + 256U * prefix[9];
    if (prefix[6] > 1) {
        if (fread(prefix + 10, 1, 2, file) != 2) return fail(path, "ends too early");
        length += 65536U * (prefix[10] + 256U * prefix[11]);
    }
    char* const header = calloc(length + 1, 1);
    if (header == NULL || fread(header, 1, length, file) != length) return fail(path, "ends too early");

    char type[4] = "";
    char shape[256] = "";
    const char* const descr = strstr(header, "'descr': '");
    const char* const dimensions = strstr(header, "'shape': (");
    if (descr == NULL || dimensions == NULL || sscanf(descr, "'descr': '%3[^']", type) != 1)
        return fail(path, "has another header");
    sscanf(dimensions, "'shape': (%255[^)]", shape); /* nothing for a scalar */
    printf("%s (%s)\n", type, shape);

    const int width = type[2] - '0';
    unsigned char bytes[8];
    size_t got;
    while ((got = fread(bytes, 1, (size_t)width, file)) == (size_t)width) {
        float f4;
        double f8;
        int64_t i8;
        switch (type[1] << 8 | type[2]) {
            case 'f' << 8 | '4': memcpy(&f4, bytes, 4), printf("%a\n", (double)f4); break;
            case 'f' << 8 | '8': memcpy(&f8, bytes, 8), printf("%a\n", f8); break;
            case 'i' << 8 | '8': memcpy(&i8, bytes, 8), printf("%" PRId64 "\n", i8); break;
            case 'u' << 8 | '1': printf("%u\n", bytes[0]); break;
            default: return fail(path, "has elements of another type");
        }
    }
    if (got != 0 || ferror(file)) return fail(path, "ends within an element");
    free(header);
    fclose(file);
    return 0;
}
