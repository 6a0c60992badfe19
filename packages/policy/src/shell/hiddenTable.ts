/**
 * Options and words by which well-known programs run another program, load a file that can, or write a file beside their operands. Each
 * list is a text with an entry for each; the wildcard of a rule never covers them. The list cannot be complete: it narrows what a rule
 * with a wildcard allows, and nothing is allowed because it is not in the list.
 */
export const hiddenOptions: Readonly<Record<string, string>> = {
  ack: "--pager --ackrc --output",
  ag: "--pager",
  ansible: "-a -e -m -M --args --extra-vars --module-name --module-path",
  apt: "-o -c --option --config-file",
  "apt-get": "-o -c --option --config-file",
  bat: "--pager --config-file --generate-config-file",
  batcat: "--pager --config-file --generate-config-file",
  brew: "sh ruby irb",
  cmake: "-P -E -C --install",
  composer: "-d --working-dir run-script exec",
  cc: "-wrapper -specs --specs -B -fplugin -o @",
  clang: "-Xclang -fplugin -load -B -o @ --config",
  "clang++": "-Xclang -fplugin -load -B -o @ --config",
  convert: "-write",
  csplit: "-f --prefix",
  curl: "-o -O -J -K -T -c -D -E -F -Q -d -x --output --output-dir --remote-name --remote-name-all --remote-header-name --config --upload-file --cookie-jar --dump-header --trace --trace-ascii --stderr --libcurl --engine --cert --key --data --data-ascii --data-binary --data-raw --data-urlencode --json --proxy --preproxy --unix-socket --abstract-unix-socket --etag-save --hsts --alt-svc --variable --quote --form --form-string --netrc-file",
  date: "-s -f --set --file",
  deno: "run eval repl task serve test bench install compile",
  diff: "--output",
  docker: "exec run -H -c -f --host --config --context --file --project-directory --env-file",
  esbuild: "--outfile --outdir --servedir --plugin",
  fd: "-x -X --exec --exec-batch",
  fdfind: "-x -X --exec --exec-batch",
  ffmpeg: "-filter_complex_script -f -y",
  file: "-C -m -f -z -Z --compile --magic-file --files-from --uncompress",
  find: "-delete -fprint -fprint0 -fprintf -fls -files0-from",
  fzf: "--preview --bind --listen",
  "g++": "-wrapper -specs --specs -B -fplugin -o @",
  gcc: "-wrapper -specs --specs -B -fplugin -o @",
  gh: "api alias extension codespace ssh-key auth config browse secret variable gist",
  go: "run generate tool -toolexec -exec -C -modfile -overlay -o -w -vettool -cpuprofile -memprofile -blockprofile -mutexprofile -coverprofile -trace -outputdir -testlogfile -gocoverdir -fuzzcachedir -pkgdir -debug-trace -debug-actiongraph -debug-runtime-trace -ldflags -gcflags -asmflags -gccgoflags",
  gofmt: "-w -cpuprofile",
  gpg: "-o --output --exec-path --photo-viewer --options --keyserver-options --agent-program --dirmngr-program",
  gradle: "-I -c -b -p -g --init-script --settings-file --build-file --project-dir --gradle-user-home",
  gradlew: "-I -c -b -p -g --init-script --settings-file --build-file --project-dir --gradle-user-home",
  grep: "-f --file",
  helm: "plugin --post-renderer --kubeconfig --output-dir",
  hg: "-R --config --cwd --repository --debugger",
  hostname: "-F -b --file --boot",
  iconv: "-o --output",
  journalctl: "--vacuum-size --vacuum-time --rotate --flush --file --root --cursor-file",
  jq: "-f -L --from-file --slurpfile --rawfile",
  kubectl: "exec cp config proxy port-forward edit plugin debug attach --kubeconfig --server",
  less: "-o -O -k -t -T + --log-file --LOG-FILE --lesskey-file --lesskey-src",
  man: "-P -H -C -M -l -p -T -X -m --pager --html --config-file --manpath --local-file --preprocessor --troff-device --gxditview --systems",
  mvn: "-f -s -gs -t --file --settings --global-settings --toolchains exec:exec exec:java",
  mysql: "-e --execute --pager --tee --init-command",
  npm: "-c -C -g exec x explore edit config set init create pkg link ln --script-shell --prefix --userconfig --globalconfig --node-options --shell --git --editor --viewer --init-module --call --registry --location --global --cache --logs-dir --pack-destination --package",
  nvim: "-c -S -s -u -l -V + -es --cmd --listen",
  openssl: "-engine -config -provider-path -out -writerand",
  patch: "-o -d -i -r -g --output --directory --input --reject-file --get",
  pip: "-t -i -r -e --target --prefix --root --index-url --extra-index-url --config-settings --requirement --editable --python --log --find-links",
  pip3: "-t -i -r -e --target --prefix --root --index-url --extra-index-url --config-settings --requirement --editable --python --log --find-links",
  pnpm: "-C -c -g exec dlx x create init config env --dir --script-shell --shell-mode --config --prefix --global --pnpmfile --global-pnpmfile --registry --shell --node-options",
  psql: "-c -f -o -L -v --command --file --output --log-file --variable --set",
  pytest:
    "-c -p -o --config-file --rootdir --confcutdir --basetemp --junitxml --junit-xml --override-ini --pyargs --pdbcls --debug --log-file --cov-config --report-log --html --css --json-report-file --alluredir --benchmark-json --benchmark-storage --pastebin",
  rg: "-f -z --pre --hostname-bin --file --search-zip",
  rsync:
    "-e -T -M --rsh --rsync-path --log-file --temp-dir --partial-dir --backup-dir --write-batch --only-write-batch --daemon --config --password-file --remote-option",
  rustc: "-o -C -Z -L @ --out-dir --codegen --emit --extern",
  scp: "-S -o -F -D -J -P -i",
  sed: "-i -f -s --in-place --file",
  sftp: "-S -o -F -D -b -B -J -i -s",
  sort: "-o -T --output --compress-program --temporary-directory --files0-from",
  split: "--filter",
  sqlite3: "-init -cmd",
  ssh: "-o -F -J -W -L -R -D -w -E -S -O -I -i",
  strings: "-T @ --target",
  tar: "-I -F -P -C -T -g @ --to-command --checkpoint-action --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script --absolute-names --index-file --directory --files-from --one-top-level --listed-incremental --volno-file --remove-files",
  terraform: "console -chdir -plugin-dir -var-file",
  tree: "-o -R --fromfile --fromtabfile",
  tsx: "-e -p -r --eval --print --require --import --loader --tsconfig",
  unzip: "-d -: -o",
  vi: "-c -S -s -u -w -W + --cmd",
  vim: "-c -S -s -u -w -W + -es --cmd",
  webpack: "-c -o --config --output-path --plugin --entry",
  wget: "-O -o -a -P -i -e --output-document --output-file --append-output --directory-prefix --input-file --execute --use-askpass --config --post-file --post-data --body-file --body-data --save-cookies --rejected-log --warc-file --hsts-file --load-cookies",
  xxd: "-r",
  yarn: "exec dlx node create init config set plugin link --cwd --use-yarnrc --script-shell --prefix --registry --modules-folder --cache-folder --global-folder --preload",
  yq: "-i -s --inplace --in-place --from-file --split-exp",
  zip: "-T -TT -O -b -m --unzip-command --test --temp-path",
  zstd: "-o -D --output-dir-flat --output-dir-mirror --patch-from",
};

/** Programs whose options have one dash and a long name, so that single letters are not joined in one word. */
export const singleDash: ReadonlySet<string> = new Set(
  "cc clang clang++ convert ffmpeg find g++ gcc go gofmt mvn openssl rustc sqlite3 terraform xxd".split(" "),
);

/** Those of them that take two dashes for one. */
export const eitherDash: ReadonlySet<string> = new Set("go gofmt openssl sqlite3 terraform xxd".split(" "));

/** Words that are no such option, and still make the program run, read or write what a rule must spell out. */
export const hiddenWords: Readonly<Record<string, RegExp>> = {
  // A file of headers or of a format, a format that names a file, options whose values name files, and URLs that curl rewrites.
  curl: /^(?:--[\w-]+=|-\w*[Hw])?@|%output\{|^--(?:url-|expand-|proto-d)|^(?:--[\w-]+=)?(?:file:.*[{[%]|[a-z]*[{[][^:]*:)/is,
  // The folder or file of a report.
  pytest: /^(?:--[\w-]+=)?(?:annotate|html|json|lcov|markdown|markdown-append|xml):(?!:)/,
  // An archive of another host, which tar opens through rsh.
  tar: /^(?:--[\w-]+=)?[^/]*:/,
};

/** Options of git before the subcommand: they set a configuration, or take that of another repository. */
export const hiddenGitGlobal =
  "-c -C -p --config-env --exec-path --git-dir --work-tree --namespace --super-prefix --paginate --attr-source";

/** Options of any subcommand of git. */
export const hiddenGitCommon =
  "--upload-pack --receive-pack --exec --ext-diff --output --output-directory --open-files-in-pager --template --separate-git-dir --no-index --sendmail-cmd";

/** Further options and words of one subcommand. */
export const hiddenGit: Readonly<Record<string, string>> = {
  am: "-S --gpg-sign --directory",
  apply: "--unsafe-paths --directory --build-fake-ancestor",
  archive: "-o --remote",
  bisect: "run visualize view replay",
  blame: "--contents",
  clone: "-u -c --config",
  "cherry-pick": "-S -e --gpg-sign --edit",
  commit: "-S -e --gpg-sign --edit",
  config: "-e -f --edit --add --replace-all --file --global --system --blob set edit",
  daemon: "--access-hook --base-path",
  difftool: "-x -t --extcmd --tool",
  fetch: "-u",
  "filter-branch":
    "-f --setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter",
  "for-each-repo": "--config",
  "format-patch": "-o --signature-file",
  grep: "-O -f",
  help: "-w -i -m --web --info --man",
  hook: "run",
  instaweb: "-b -d -m --browser --httpd --module-path",
  log: "-O",
  "ls-files": "-X --exclude-from",
  maintenance: "start register",
  merge: "-S -e -s --gpg-sign --edit --strategy",
  mergetool: "-t --tool",
  pull: "-S -s --gpg-sign --strategy",
  rebase: "-S -x -i -s --gpg-sign --interactive --strategy --edit-todo",
  remote: "add set-url",
  revert: "-S -e --gpg-sign --edit",
  "send-email": "--smtp-server --to-cmd --cc-cmd --header-cmd",
  show: "-O",
  submodule: "foreach add update set-url",
  tag: "-s -u -v --verify --sign --local-user",
  worktree: "add",
};

/** Programs that run whatever a file, a script or their words say, in ways that this does not read. */
export const hiddenByNature: ReadonlySet<string> = new Set(
  `at awk gawk mawk nawk batch bpftrace cmd crontab csh dbus-run-session debugfs dtrace ed emacs entr ex expect fakeroot faketime
  firejail fish flatpak gdb gimp gs irb julia ksh ld.so ldd lldb ltrace lua luajit m4 mail mailx micro mksh mosh msfconsole nano nodemon
  octave osascript pico powershell pry pwsh R Rscript rsh run-parts rview rvim scheme screen swift tclsh telnet tmux vimdiff view w3m
  wine wish xterm yash zsh latex lualatex pdflatex tex xelatex aria2c elinks links lynx nc ncat netcat nmap socat tcpdump tshark dpkg rpm
  capsh chroot flock linux32 linux64 nsenter parallel perf pkexec prlimit proot rlwrap runcon runuser script setarch setpriv snap
  ssh-agent start-stop-daemon strace su systemd-run taskset torsocks unbuffer unshare valgrind watch xvfb-run insmod modprobe mount
  systemctl service kexec`.split(/\s+/),
);

/** Programs that run the command in their words, in ways that this does not read: a rule must spell all of it out. */
export const runsItsWords: ReadonlySet<string> = new Set(
  "c8 nyc cross-env cross-env-shell dotenv dotenvx concurrently run-s run-p npm-run-all lerna hyperfine".split(" "),
);

/** Programs that run a file or a text of theirs: the word that names it is what a rule must spell out. */
export const interpreters: Readonly<Record<string, { readonly plain: string; readonly code: string }>> = {
  bash: { plain: "-e -u -x", code: "-c" },
  bun: { plain: "", code: "-e -p --eval --print run x test exec" },
  bunx: { plain: "", code: "" },
  corepack: { plain: "", code: "" },
  dash: { plain: "-e -u -x", code: "-c" },
  java: { plain: "-ea", code: "-jar" },
  node: { plain: "--test --check --watch", code: "-e -p --eval --print" },
  nodejs: { plain: "--test --check --watch", code: "-e -p --eval --print" },
  npx: { plain: "-y --yes --no-install --no", code: "" },
  perl: { plain: "-w", code: "-e -E" },
  php: { plain: "", code: "-r -f -l" },
  pipx: { plain: "", code: "run" },
  pnpx: { plain: "", code: "" },
  python: { plain: "-u -B -I -E -s", code: "-c -m" },
  python2: { plain: "-u -B -E -s", code: "-c -m" },
  python3: { plain: "-u -B -I -E -s", code: "-c -m" },
  ruby: { plain: "-w", code: "-e" },
  sh: { plain: "-e -u -x", code: "-c" },
  "ts-node": { plain: "", code: "-e -p" },
  uvx: { plain: "", code: "" },
};
