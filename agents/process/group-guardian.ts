import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';

/** Name of the variable by which what an agent started is known. */
export const MARK_VARIABLE = 'WF_STARTED_BY';

/** Kills what outlives this process, however it ends. */
export interface GroupGuardian {
  /** Not to be guessed. Whatever has it in its {@link MARK_VARIABLE} is killed (on Linux), in whatever group it is. */
  readonly token: string;
  /** Starts watching. To be called before anything is started that bears the token. */
  open(): void;
  watch(group: number): void;
  release(group: number): void;
  /** Kills one process too, which shares its group with this one. */
  watchProcess(pid: number): void;
  releaseProcess(pid: number): void;
  /** Removes a file or a directory too. */
  watchPath(path: string): void;
  /** Ends watching: everything was ended in good order. */
  close(): void;
}

/**
 * Reads words about what to kill and to remove from its standard input. The input ends when the process that holds its
 * other end is gone, killed or not: then all of it goes. A command that was being started at that moment holds the other end
 * too until its program runs, and from then on bears the token. Besides the environment the token is looked for in the name
 * of what is open as descriptor 8, where commands of Bash have their temporary directory: `env -i` leaves them that.
 */
const WATCH = `
token=$1 groups=" " pids=" "
shift
while read -r word rest; do
  case $word in
    +) groups="$groups$rest " ;;
    -) case "$groups" in *" $rest "*) groups="\${groups%% $rest *} \${groups#* $rest }" ;; esac ;;
    p) pids="$pids$rest " ;;
    r) case "$pids" in *" $rest "*) pids="\${pids%% $rest *} \${pids#* $rest }" ;; esac ;;
    d) set -- "$@" "$rest" ;;
    q) exit 0 ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
for pid in $pids; do kill -s KILL "$pid"; done
marked() {
  { grep -lF "$token" /proc/[0-9]*/environ; ls -l /proc/[0-9]*/fd/8; } |
    sed -n "s|^/proc/\\([0-9]*\\)/environ\\$|\\1|p; s|^.* /proc/\\([0-9]*\\)/fd/8 -> .*$token.*|\\1|p"
}
none=0 pass=0
while [ $none -lt 2 ] && [ $pass -lt 50 ]; do
  pass=$((pass + 1)) found=$(marked)
  if [ -z "$found" ]; then none=$((none + 1)); else none=0; kill -s KILL $found; fi
done
[ $# -eq 0 ] || rm -rf -- "$@"
`;

/**
 * Starts a shell that watches over all that agents of a backend start: it dies with the run even when the run is killed and
 * can do nothing for it any more. Where there is no shell, nothing is watched.
 *
 * @param searchPath where the shell finds its programs, as in `PATH`
 */
export function startGuardian(searchPath: string | undefined): GroupGuardian {
  const token = randomBytes(12).toString('hex');
  let shell: ChildProcess | undefined;
  const open = (): ChildProcess => {
    shell ??= startShell(token, searchPath);
    return shell;
  };
  const tell = (word: '+' | '-' | 'p' | 'r' | 'd', what: number | string): void => {
    open().stdin?.write(`${word} ${what}\n`);
  };
  return {
    token,
    open: () => void open(),
    watch: (group) => tell('+', group),
    release: (group) => tell('-', group),
    watchProcess: (pid) => tell('p', pid),
    releaseProcess: (pid) => tell('r', pid),
    watchPath(path) {
      if (!path.includes('\n')) tell('d', path);
    },
    close() {
      shell?.stdin?.end('q\n');
      shell = undefined;
    },
  };
}

/** In a group of its own, so that a Ctrl-C at the terminal spares it; and never a reason for this process to stay. */
function startShell(token: string, searchPath: string | undefined): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', WATCH, 'wf-guardian', token], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: searchPath === undefined ? {} : { PATH: searchPath },
  });
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as unknown as { unref?(): void }).unref?.();
  return shell;
}
