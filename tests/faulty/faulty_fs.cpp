// A disk that fails when it is told to: shows a folder, read-only, through FUSE.
//
//   faulty_fs FOLDER FAULTS MOUNTPOINT
//
// What is wrong with FOLDER/NAME stands in the file FAULTS/NAME and can be changed at any time:
//   eio       reads fail
//   delay MS  each read takes so many milliseconds longer
//   hang      reads wait until the file says something else
//   seek MS   a read that does not go on where the last one of its open file ended waits 20 ms for one that does, and
//             then costs so many milliseconds, as at a web server. Each read adds a line to FAULTS/NAME.reads: "seek"
//             or "next", and how many bytes it gave. With " direct" behind, what is opened then is not cached or mapped
// Nothing is wrong where there is no such file. Ends when it is unmounted or gets SIGTERM.

#define FUSE_USE_VERSION 312
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
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

/// A file that is open.
struct Open {
    explicit Open(int descriptor) : fd(descriptor) {}

    int fd;
    std::mutex mutex{};
    std::condition_variable has_read{};
    off_t position = 0;  // the end of the last read
};

Open& opened(const fuse_file_info* file) { return *reinterpret_cast<Open*>(file->fh); }

/// Reads as the fault "seek" says.
ssize_t read_in_order(const std::string& file, Open& open, char* into, std::size_t size, off_t offset) {
    constexpr std::chrono::milliseconds patience{20};
    std::unique_lock lock(open.mutex);
    const bool goes_on = open.has_read.wait_for(lock, patience, [&] { return open.position == offset; });
    if (!goes_on) std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(fault_of(file).substr(5))));
    const ssize_t got = ::pread(open.fd, into, size, offset);
    if (got > 0) open.position = offset + got;
    {
        static std::mutex log_mutex;
        const std::lock_guard log_lock(log_mutex);
        std::ofstream(file + ".reads", std::ios::app) << (goes_on ? "next " : "seek ") << got << '\n';
    }
    open.has_read.notify_all();
    return got;
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
    file->fh = reinterpret_cast<std::uint64_t>(std::make_unique<Open>(fd).release());
    file->direct_io = fault_of(disk().faults + path).ends_with(" direct");
    return 0;
}

int release(const char*, fuse_file_info* file) {
    const std::unique_ptr<Open> closed(&opened(file));
    return ::close(closed->fd);
}

int read(const char* path, char* into, std::size_t size, off_t offset, fuse_file_info* file) {
    const std::string fault = disk().faults + path;
    if (const int error = suffer(fault); error != 0) return -error;
    Open& open = opened(file);
    const bool in_order = fault_of(fault).starts_with("seek ");
    const ssize_t got =
        in_order ? read_in_order(fault, open, into, size, offset) : ::pread(open.fd, into, size, offset);
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
