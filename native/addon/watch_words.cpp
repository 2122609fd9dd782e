// The options of watching, from expressions and suspects.
#include "addon/watch_words.h"

#include <utility>

#include "addon/watch_expressions.h"

namespace cacheline::addon {

record::WatchOptions watchOptions(const WatchRequest& request, const std::shared_ptr<Suspects>& suspects,
                                  const Suspects::Ask& ask) {
  record::WatchOptions options;
  options.budget = request.budget;
  options.required = !request.expressions.empty();
  const auto expressions = std::make_shared<WatchExpressions>(request.expressions);
  options.checkProgram = [expressions](const symbols::LinkedFiles& files) { expressions->check(files); };
  options.checkProcesses = [expressions](const std::vector<pid_t>& pids) { expressions->check(pids); };
  options.words = [expressions, suspects, ask](const std::string& folder, const std::vector<pid_t>& pids) {
    std::vector<record::WatchWord> words = expressions->words(pids);
    if (suspects)
      for (record::WatchWord& word : suspects->words(folder, ask)) words.push_back(std::move(word));
    return words;
  };
  if (suspects) options.asksForWords = [suspects] { return suspects->isDue(); };
  options.whyNothing = [expressions, suspects] {
    const std::string why = expressions->why();
    return why.empty() && suspects ? suspects->why() : why;
  };
  options.missing = [expressions] { return expressions->missing(); };
  options.remarks = [expressions] { return expressions->remarks(); };
  return options;
}

}  // namespace cacheline::addon
