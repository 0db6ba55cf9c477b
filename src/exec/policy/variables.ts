// Decides which variables a command line may set before an allowlisted program.
import { isRejectedVariable } from "../environment.ts";

/** Listed because they match a pattern below without being dangerous. */
const harmless =
  /^(?:LC_[A-Z]+|LANG|LANGUAGE|TZ|TERM|CI|DEBUG|VERBOSE|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|NODE_ENV|RUST_BACKTRACE|SOURCE_DATE_EPOCH|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_TERMINAL_PROMPT|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|UTF8|HASHSEED))$/;

/** Parts of a name that decide what is loaded, started or asked. */
const loaded = new Set(
  (
    "ARG ARGS ASKPASS BASH BIN BROWSER BUILD CC CD CLASS CMD COMMAND COMPILER CONF CONFIG CXX DIR DYLD EDITOR ENV EXEC " +
    "EXECUTABLE FLAGS FILE FPATH FUNC GLOBIGNORE GCONV HELPER HOME HOOK HOST IFS IMPORT INCLUDE INIT JAVA JDK LD LESS LIB " +
    "LIBRARY LOAD LOADER LOC LOCPATH MAKE MAN MODULE MODULES MORE NLSPATH NODE OPT OPTION OPTIONS OPTS PAGER PATH PERL PERL5 " +
    "PLUGIN PLUGINS POSIXLY PREFIX PRELOAD PROG PROGRAM PROMPT PROXY PS0 PS1 PS2 PS3 PS4 PYTHON RC REQUIRE ROOT RSH RUBY " +
    "SCRIPT SECURE SHELL SHELLOPTS SSH STARTUP SUDO TERMCAP TERMINFO TMP TMPDIR TEMP TOOL URL USER VISUAL WRAPPER XDG ZDOTDIR"
  ).split(" "),
);

/** Prefixes and suffixes with the same meaning without an underscore. */
const shapes =
  /(?:PATH|OPTS?|OPTIONS|FLAGS|ARGS|HOME|PAGER|EDITOR|SHELL|ENV|CONFIG|PRELOAD|COMMAND|OPEN|CLOSE|RC|FILE|DIR|PROG|EXEC)$|^(?:LD|DYLD|GIT|PYTHON|NODE|NPM|PERL|RUBY|GEM|JAVA|LUA|PHP|BASH|ZSH|ZIP|UNZIP|TAR|RSYNC|LESS|MAN|GREP|RIPGREP|FZF|MAKE|CARGO|RUST|GO|DOCKER|KUBE|AWS|OPENSSL|SSL|SSH|GPG|CURL|WGET|OPENCLAW|MOLTBOT|CLAWD|MALLOC|GLIBC|GCC|SYSTEMD|SUDO|DBUS|XDG)/;

/** True when setting `name` could change which code runs. Ignores case, because some programs read both spellings. */
export function controlsCode(name: string): boolean {
  if (harmless.test(name)) return false;
  const upper = name.toUpperCase();
  if (!/^[A-Z_][A-Z0-9_]*$/.test(upper)) return true;
  return isRejectedVariable(name) || shapes.test(upper) || upper.split("_").some((word) => loaded.has(word));
}
