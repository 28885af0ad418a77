#pragma once

// libfuse's low-level interface, in the version that the whole program is written for.
#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 312
#endif
#include <fuse3/fuse_lowlevel.h>
