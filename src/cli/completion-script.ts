// Completion scripts for bash, zsh and fish: the words that can follow a command.

export interface CompletionWord {
  readonly path: readonly string[];
  readonly summary: string;
  /** With their dashes. */
  readonly options: readonly string[];
}

/** Words before the cursor that are not options select the next words. */
export function bashScript(words: readonly CompletionWord[]): string {
  const cases = words.map(
    ({ path, options }) =>
      `    ${quote(path.join(" "))}) words=${quote([...childrenOf(path, words), ...options].join(" "))} ;;`,
  );
  return `# openclaw completion for bash
_openclaw() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ $word == -* ]] && continue
    case " ${words
      .map(({ path }) => path.join("/"))
      .filter((path) => path !== "")
      .join(" ")} " in
      *" \${path:+$path/}$word "*) path="\${path:+$path/}$word" ;;
    esac
  done
  case "\${path//\\// }" in
${cases.join("\n")}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _openclaw openclaw moltbot
`;
}

export function zshScript(words: readonly CompletionWord[]): string {
  const cases = words.map(({ path, options }) => {
    const children = childrenOf(path, words).map((name) => quote(`${name}:${summaryOf([...path, name], words)}`));
    return `    ${quote(path.join(" "))}) commands=(${children.join(" ")}); options=(${options.map(quote).join(" ")}) ;;`;
  });
  const known = words.flatMap(({ path }) => (path.length === 0 ? [] : [quote(path.join(" "))]));
  return `#compdef openclaw moltbot
# openclaw completion for zsh
_openclaw() {
  local command_path="" word next
  local -a commands options known
  known=(${known.join(" ")})
  for word in \${words[2,CURRENT-1]}; do
    [[ $word == -* ]] && continue
    next="\${command_path:+$command_path }$word"
    (( \${known[(Ie)$next]} )) && command_path=$next
  done
  case $command_path in
${cases.join("\n")}
  esac
  (( \${#commands} )) && _describe command commands
  [[ $PREFIX == -* ]] && compadd -- $options
  (( \${#commands} )) || _files
}
if [[ \${zsh_eval_context[-1]} == loadautofunc ]]; then _openclaw "$@"; else compdef _openclaw openclaw moltbot; fi
`;
}

export function fishScript(words: readonly CompletionWord[]): string {
  const lines = words.flatMap(({ path, options }) => {
    const condition = `__openclaw_at ${quote(path.join(" "))}`;
    const children = childrenOf(path, words).map(
      (name) =>
        `complete -c openclaw -n ${quote(condition)} -f -a ${quote(name)} -d ${quote(summaryOf([...path, name], words))}`,
    );
    return [
      ...children,
      ...options.map((option) => `complete -c openclaw -n ${quote(condition)} -l ${quote(option.slice(2))}`),
    ];
  });
  return `# openclaw completion for fish
function __openclaw_at
  set -l known ${words.flatMap(({ path }) => (path.length === 0 ? [] : [quote(path.join(" "))])).join(" ")}
  set -l at ""
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and continue
    set -l next (string trim -- "$at $word")
    contains -- $next $known; and set at $next
  end
  test "$at" = "$argv[1]"
end
${lines.join("\n")}
complete -c moltbot -w openclaw
`;
}

function childrenOf(path: readonly string[], words: readonly CompletionWord[]): string[] {
  const names = words.flatMap((word) =>
    word.path.length === path.length + 1 && path.every((part, at) => word.path[at] === part) ? word.path.slice(-1) : [],
  );
  return [...new Set(names)];
}

function summaryOf(path: readonly string[], words: readonly CompletionWord[]): string {
  return words.find((word) => word.path.join(" ") === path.join(" "))?.summary ?? "";
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
