// A disk that fails when it is told to: shows a folder, read-only, through FUSE.
//
//   faulty_fs FOLDER FAULTS MOUNTPOINT
//
// What is wrong with FOLDER/NAME stands in the file FAULTS/NAME and can be changed at any time:
//   eio       reads fail
//   delay MS  each read takes so many milliseconds longer
//   hang      reads wait until the file says something else
// Nothing is wrong where there is no such file. Ends when it is unmounted or gets SIGTERM.

#define FUSE_USE_VERSION 312
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

/// More than the requests that any test lets hang, so that these keep none of the others waiting.
constexpr unsigned most_requests = 200;

struct Disk {
    std::string folder;
    std::string faults;
};

const Disk& disk() { return *static_cast<const Disk*>(fuse_get_context()->private_data); }

std::string fault_of(const std::string& file) {
    std::string text;
    std::ifstream in(file);
    std::getline(in, text);
    return text;
}

/// Waits as long as the fault says. 0, or an errno value.
int suffer(const std::string& file) {
    std::string fault = fault_of(file);
    while (fault == "hang") {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        fault = fault_of(file);
    }
    if (fault.starts_with("delay ")) std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(fault.substr(6))));
    return fault == "eio" ? EIO : 0;
}

void* init(fuse_conn_info* connection, fuse_config* config) {
    connection->max_background = most_requests;
    connection->max_readahead = std::min(connection->max_readahead, 65536U);  // so that little more is read than asked
    config->attr_timeout = config->entry_timeout = 0;                         // changes to the folder show at once
    config->kernel_cache = 1;  // as a disk: what was read before a failure is still there behind it
    return fuse_get_context()->private_data;
}

int getattr(const char* path, struct stat* found, fuse_file_info*) {
    return ::lstat((disk().folder + path).c_str(), found) == 0 ? 0 : -errno;
}

int readdir(const char* path, void* listing, fuse_fill_dir_t add, off_t, fuse_file_info*, fuse_readdir_flags) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(disk().folder + path, error))
        add(listing, entry.path().filename().c_str(), nullptr, 0, fuse_fill_dir_flags{});
    return -error.value();
}

int open(const char* path, fuse_file_info* file) {
    const int fd = ::open((disk().folder + path).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
    file->fh = static_cast<std::uint64_t>(fd);
    return 0;
}

int release(const char*, fuse_file_info* file) { return ::close(static_cast<int>(file->fh)); }

int read(const char* path, char* into, std::size_t size, off_t offset, fuse_file_info* file) {
    if (const int error = suffer(disk().faults + path); error != 0) return -error;
    const ssize_t got = ::pread(static_cast<int>(file->fh), into, size, offset);
    return got >= 0 ? static_cast<int>(got) : -errno;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    Disk disk{argv[1], argv[2]};
    fuse_operations operations{};
    operations.init = init;
    operations.getattr = getattr;
    operations.readdir = readdir;
    operations.open = open;
    operations.release = release;
    operations.read = read;

    std::string limits = "ro,subtype=faulty,max_threads=" + std::to_string(most_requests);
    std::string foreground = "-f";
    std::string dash_o = "-o";
    std::array<char*, 6> arguments{argv[0], foreground.data(), dash_o.data(), limits.data(), argv[3], nullptr};
    return fuse_main(5, arguments.data(), &operations, &disk);
}
