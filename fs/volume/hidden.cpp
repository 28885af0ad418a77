#include "fs/volume/hidden.hpp"

#include <algorithm>
#include <span>

namespace tensorfs {
namespace {

Hidden::Entry entry_of(const TensorView& view) { return {view.name, {static_cast<View>(view.id), Tree::root}, true}; }

Hidden::Entry entry_of(const ModelView& view) { return {view.name, {View::hidden, view.id}, false}; }

/// The first tensor view is the mount's root.
std::span<const TensorView> folders() { return tensor_views().subspan(1); }

template <typename Views>
auto find_in(const Views& views, std::string_view name) {
    return std::find_if(views.begin(), views.end(), [&](const auto& view) { return view.name == name; });
}

}  // namespace

const std::vector<Hidden::Entry>& Hidden::entries() const {
    std::call_once(listed_, [&] {
        std::vector<Entry> all;
        for (const TensorView& view : folders()) all.push_back(entry_of(view));
        for (const ModelView& view : model_views()) {
            if (view.is_possible(model_)) all.push_back(entry_of(view));
        }
        std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
        entries_ = std::move(all);
    });
    return entries_;
}

std::optional<Hidden::Entry> Hidden::find(std::string_view wanted) const {
    if (const auto view = find_in(folders(), wanted); view != folders().end()) return entry_of(*view);
    const auto view = find_in(model_views(), wanted);
    if (view == model_views().end() || content(view->id) == nullptr) return std::nullopt;
    return entry_of(*view);
}

const Content* Hidden::content(std::uint32_t position) const {
    const ModelView* const view = model_view(position);
    if (view == nullptr) return nullptr;
    Made& made = made_[position];
    std::call_once(made.once, [&] { made.content = view->content(model_, tree_); });
    return made.content ? &*made.content : nullptr;
}

}  // namespace tensorfs
