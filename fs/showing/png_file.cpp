#include "fs/showing/png_file.hpp"

#include <fmt/format.h>
#include <png.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw Failure(ExitCode::unwritable, fmt::format("cannot write {}: {}", printable(path), why));
}

/// A new file beside another one's name; removed at the end unless it took that name.
class FileBeside {
public:
    explicit FileBeside(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
        const int descriptor = ::mkstemp(temporary_.data());
        if (descriptor < 0) fail(path_, system_message(errno));
        file_.reset(::fdopen(descriptor, "wb"));
        if (!file_) {
            const int error = errno;
            ::close(descriptor);
            ::unlink(temporary_.c_str());
            fail(path_, system_message(error));
        }
    }
    ~FileBeside() {
        if (!is_renamed_) ::unlink(temporary_.c_str());
    }
    FileBeside(const FileBeside&) = delete;
    FileBeside& operator=(const FileBeside&) = delete;

    [[nodiscard]] std::FILE* get() const { return file_.get(); }

    void take_its_name() {
        // As a program's own files are: mkstemp lets only the owner read.
        const mode_t mask = ::umask(0);
        ::umask(mask);
        const bool is_written = ::fchmod(::fileno(file_.get()), 0666 & ~mask) == 0 && std::fflush(file_.get()) == 0;
        if (!is_written || std::fclose(file_.release()) != 0) fail(path_, system_message(errno));
        if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, system_message(errno));
        is_renamed_ = true;
    }

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    std::string path_;
    std::string temporary_;
    std::unique_ptr<std::FILE, Close> file_;
    bool is_renamed_ = false;
};

}  // namespace

void write_png(const Canvas& canvas, const std::string& path) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(canvas.width() * canvas.height() * 3);
    for (std::size_t y = 0; y < canvas.height(); ++y) {
        for (std::size_t x = 0; x < canvas.width(); ++x) {
            const Colour colour = canvas.at(x, y);
            bytes.insert(bytes.end(), {colour.red, colour.green, colour.blue});
        }
    }
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(canvas.width());
    image.height = static_cast<png_uint_32>(canvas.height());
    image.format = PNG_FORMAT_RGB;
    FileBeside file(path);
    if (::png_image_write_to_stdio(&image, file.get(), 0, bytes.data(), 0, nullptr) == 0) fail(path, image.message);
    file.take_its_name();
}

}  // namespace tensorfs
