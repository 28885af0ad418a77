#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/tensors/content.hpp"
#include "core/tensors/widen.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/printing/array_text.hpp"
#include "fs/printing/slicing.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

constexpr std::size_t buffer_size = 4 << 20;

/// A tensor's elements, raw or widened, without a header.
struct Elements {
    Content content;
    std::uint64_t size;  // bytes of one

    Elements(const Tensor& tensor, bool is_widened) {
        if (is_widened && can_widen(tensor.dtype())) {
            content.add_widened(tensor);
            size = sizeof(float);
        } else {
            content.add(tensor);
            size = block_of(tensor.dtype()).nbytes;
        }
    }
};

/// Gathers bytes for standard output.
class Output {
public:
    void write(std::span<const std::byte> bytes) {
        buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (buffer_.size() >= buffer_size) flush();
    }
    void flush() {
        print(buffer_);
        buffer_.clear();
    }

private:
    std::string buffer_;
};

void write_bytes(const Model& model, std::uint64_t begin, std::uint64_t nbytes, const Content& content, Output& out) {
    std::vector<std::byte> buffer(std::min<std::uint64_t>(nbytes, buffer_size));
    for (std::uint64_t done = 0; done < nbytes; done += buffer.size()) {
        buffer.resize(std::min<std::uint64_t>(nbytes - done, buffer_size));
        read_range(content, begin + done, buffer, model.shards());
        out.write(buffer);
    }
}

/// Writes the elements of a slicing, in C order.
void write_slicing(const Model& model, const Elements& elements, const Slicing& slicing, Output& out) {
    std::vector<std::byte> buffer;
    slicing.visit_runs([&](const Slicing::Run& run) {
        if (run.step == 1) {
            write_bytes(model, run.first * elements.size, run.count * elements.size, elements.content, out);
            return;
        }
        if (run.step > buffer_size / elements.size) {  // too far apart to read what is between
            buffer.resize(elements.size);
            for (std::uint64_t i = 0; i < run.count; i += std::min(run.step, run.count - i)) {
                read_range(elements.content, (run.first + i) * elements.size, buffer, model.shards());
                out.write(buffer);
            }
            return;
        }
        // Read in stretches, of which every step-th element is taken.
        const std::uint64_t stretch = buffer_size / elements.size / run.step * run.step;
        for (std::uint64_t done = 0; done < run.count; done += stretch) {
            buffer.resize(std::min(stretch, run.count - done) * elements.size);
            read_range(elements.content, (run.first + done) * elements.size, buffer, model.shards());
            for (std::size_t at = 0; at < buffer.size(); at += run.step * elements.size) {
                out.write(std::span(buffer).subspan(at, elements.size));
            }
        }
    });
}

/// The elements of a slicing that are shown; few.
std::vector<Element> read_shown(const Model& model, const Tensor& tensor, const Slicing& slicing, const Shown& shown) {
    const Elements elements(tensor, true);
    std::vector<std::byte> bytes(shown.elements() * elements.size);
    std::vector<std::size_t> at(shown.places.size());  // counts through the places
    std::vector<std::uint64_t> place(at.size());
    for (std::size_t done = 0; done < bytes.size(); done += elements.size) {
        for (std::size_t d = 0; d < at.size(); ++d) place[d] = shown.places[d][at[d]];
        read_range(elements.content, slicing.element(place) * elements.size,
                   std::span(bytes).subspan(done, elements.size), model.shards());
        for (std::size_t d = at.size(); d-- > 0 && ++at[d] == shown.places[d].size();) at[d] = 0;
    }
    return elements_of(tensor.dtype(), bytes);
}

enum class OutputFormat : std::uint8_t { raw, npy, f32, text };

OutputFormat format_named(std::string_view name) {
    if (name == "raw") return OutputFormat::raw;
    if (name == "npy") return OutputFormat::npy;
    if (name == "f32") return OutputFormat::f32;
    if (name == "text") return OutputFormat::text;
    // What is meant for programs would only garble a terminal.
    return ::isatty(STDOUT_FILENO) == 1 ? OutputFormat::text : OutputFormat::raw;
}

void write_text(const Model& model, const Tensor& tensor, const Slicing& slicing) {
    constexpr std::size_t most_dimensions = 64;  // as NumPy has it
    constexpr std::uint64_t most_elements = 1'000'000;
    if (slicing.shape().size() > most_dimensions) {
        throw Failure(ExitCode::usage, fmt::format("{} dimensions cannot be shown as text, only up to {}",
                                                   slicing.shape().size(), most_dimensions));
    }
    const Shown shown = shown_of(slicing.shape());
    if (shown.elements() > most_elements) {
        throw Failure(ExitCode::usage, "even shortened, this is too much to be shown as text: take a slice of it");
    }
    print(array_text(tensor.dtype(), slicing.shape(), shown, read_shown(model, tensor, slicing, shown)) + "\n");
}

void write_binary(const Model& model, const Tensor& tensor, const Slicing& slicing, OutputFormat format) {
    const bool is_widened = format == OutputFormat::f32 && can_widen(tensor.dtype());
    if (is_packed(tensor.dtype()) && !is_widened && !slicing.is_all()) {
        throw Failure(ExitCode::usage, fmt::format("{} elements are no whole bytes: a slice of them needs --format f32 "
                                                   "or text",
                                                   to_string(tensor.dtype())));
    }
    Output out;
    if (format != OutputFormat::raw) {
        const std::string header = format == OutputFormat::npy ? npy_view_header(tensor, slicing.shape())
                                                               : f32_view_header(tensor, slicing.shape());
        out.write(std::as_bytes(std::span(header)));
    }
    const Elements elements(tensor, is_widened);
    if (slicing.is_all()) {
        write_bytes(model, 0, elements.content.size(), elements.content, out);
    } else {
        write_slicing(model, elements, slicing, out);
    }
    out.flush();
}

constexpr std::array arguments{
    source_argument,
    name_argument,
};

constexpr std::array flags{
    Flag{
        .name = "--format",
        .value = {.name = "FORMAT", .choices = "raw|npy|f32|text"},
        .help = "raw, npy, f32 (npy, narrow floats widened) or text; text on a terminal, else raw",
        .manual = R"(.Fl -format
is
.Cm raw ,
the bytes as they lie in the shard;
.Cm npy ,
a NumPy array file;
.Cm f32 ,
the same with floats of less than 32 bits widened; or
.Cm text ,
as NumPy prints an array, shortened.
The default is
.Cm text
on a terminal and
.Cm raw
elsewhere.)",
    },
    Flag{
        .name = "--slice",
        .value = {"SLICE"},
        .help = "a part of it, as NumPy slices: 0:4,: or -1 or ::2,5 (write --slice=-1 for a leading minus)",
        .manual = R"(.Fl -slice
selects as in NumPy: for each dimension an index or START:STOP:STEP, as in
.Ql 0:4,\&:
.Pq write a leading minus as Ql --slice=-1 .)",
    },
};

ExitCode run(const Typed& typed) {
    const OutputFormat format = format_named(typed.value("--format"));
    Model model = load_source(typed);
    model.map();
    const Tensor* const tensor = &model.tensors()[named_tensor(model, typed)];
    const std::string slice = typed.value("--slice");
    const Slicing slicing = slice.empty() ? Slicing(tensor->shape()) : Slicing(tensor->shape(), slice);
    if (format == OutputFormat::text) {
        write_text(model, *tensor, slicing);
    } else {
        write_binary(model, *tensor, slicing, format);
    }
    return ExitCode::ok;
}

}  // namespace

constexpr Verb cat_verb{
    .name = "cat",
    .summary = "write a tensor, or a slice of it, or show it",
    .manual = "Writes a tensor.",
    .arguments = arguments,
    .flags = flags,
    .takes = is_of_source,
    .run = run,
};

}  // namespace tensorfs
