import type { ProgramRecord, ProgramRecords } from "./record.ts";

const tool = (options: string, style?: "words"): ProgramRecord => ({ covers: { options }, ...(style && { style }) });
/** Protocols that curl may speak to a server: lists tell it, of which some name `file`. */
const protocols = "=https|https|=http|=http,https|=https,http";
const nothing: ProgramRecord = { covers: "nothing" };

const composing =
  "-d --detach -v --volumes --remove-orphans --build --no-build --force-recreate --no-recreate -a --all -q --quiet --follow --tail= --no-color -t= --timeout= --wait --no-deps --pull=? --services --format= --profiles --no-log-prefix --since= -s --stop -V";

const compose: ProgramRecord = {
  commands: {
    "down events images kill logs ls pause port ps pull push restart rm start stop top unpause version":
      tool(composing),
    // It builds images of folders, and shows what files of variables say.
    "build config create up": {
      ...tool(composing),
      beyond: { does: "read", below: "all", folder: Infinity, partly: true },
    },
    "attach exec cp run watch": nothing,
  },
};

const hgOptions = "-r= --rev= -l= --limit= -p --patch -v --verbose -q --quiet --stat -g --git -T= -a -m -n -u -c";
const svnOptions = "-r= -l= --limit= -v --verbose -q --quiet --xml -R -u";

/** Programs that reach services, or machines elsewhere. */
export const network: ProgramRecords = {
  curl: {
    beyond: { does: "write", only: "-J --remote-header-name" },
    versionOptions: "--version -V",
    same: `-X= --request=, -A= --user-agent=, -e= --referer=, -k --insecure, -I --head, -d= --data-ascii= --data=, -F= --form=, -T= --upload-file=,
      -o= --output=, -O --remote-name, -J --remote-header-name, -K= --config=, -b= --cookie=, -c= --cookie-jar=, -x= --proxy=, -E= --cert=, -Q= --quote=`,
    covers: {
      options: `-s --silent -S --show-error -f --fail --fail-with-body -L --location -I --head -i --include -v --verbose -X= --request= -H= --header= -A=
        --user-agent= -e= --referer= -m= --max-time= --connect-timeout= --retry= --retry-delay= --retry-all-errors -w= --write-out= -k
        --insecure --compressed -4 --ipv4 -6 --ipv6 -N --no-buffer -g --globoff -G --get --http1.1 --http2 --tlsv1.2 --tlsv1.3
        --proto=${protocols} --proto-redir=${protocols} -r= --range= --max-redirs= --no-progress-meter -# --progress-bar -u= --user= --oauth2-bearer=`,
      // Not a file of headers or of a format, a format that names a file, a file, or an address that curl expands.
      word: /^(?!@|file:|[a-z]*[{[][^:]*:)(?!.*%output\{)/is,
    },
  },
  wget: {
    same: `-O= --output-document=, -P= --directory-prefix=, -r --recursive, -m --mirror, -i= --input-file=, -e= --execute=, -U= --user-agent=, -c
      --continue, -b --background`,
    covers: {
      options:
        "-q --quiet -nv --no-verbose -v --spider -S --server-response -t= --tries= -T= --timeout= --no-check-certificate -4 -6 --max-redirect= --method=HEAD",
      // It decodes %2e, and drops what follows #, in the name of the file that it writes.
      word: /^[^%#]*$/,
    },
  },
  "dig host nslookup": { covers: { options: "-4 -6 -t= -p= -x=", word: /^[^-@]/ } },
  rsync: {
    same: "-e= --rsh=, --del --delete-during, -L --copy-links, -n --dry-run",
    covers: {
      options: `-a --archive -v --verbose -q --quiet -n --dry-run -r --recursive -z --compress -h --human-readable -P --progress --partial --stats -u --update -i
        --itemize-changes -c --checksum -l --links -p --perms -t --times -g -o --delete --exclude= --include= --existing --ignore-existing
        --size-only --max-size= --min-size= --bwlimit= --info=`,
    },
    beyond: [
      { does: "put bring read", below: "sources" },
      { does: "read", only: "--files-from" },
      {
        does: "delete",
        below: "last",
        only: "--delete --delete-after --delete-before --delete-delay --delete-during --delete-excluded --delete-missing-args --del --force",
      },
    ],
  },
  scp: {
    beyond: [{ does: "put bring" }, { does: "read", below: "sources", only: "-r", followsLinks: true }],
    covers: { options: "-r -p -q -v -C -B -3 -4 -6 -P= -l=" },
  },
  ssh: nothing,
  openssl: {
    commands: {
      "crl dgst rand version x509 verify req": {
        style: "words",
        covers: {
          options:
            "-in= -noout -text -dates -subject -issuer -fingerprint -sha256 -sha1 -md5 -hex -base64 -a -purpose -serial -hash",
        },
      },
    },
  },
  gpg: { covers: { options: "--list-keys --list-secret-keys -k -K --fingerprint --verify --with-colons --version" } },

  "docker-compose podman-compose": compose,
  // podman takes the words of docker.
  "docker podman": {
    same: "container &, -H= --host=, -c= --context=, -l= --log-level=",
    commands: {
      "": tool("--version -v"),
      "events history images info inspect logs port ps search stats top version diff": tool(
        "-a --all -q --quiet -f --follow -n= --tail= --since= --until= -t --timestamps --no-trunc --no-stream --format= -s --size -l",
      ),
      "kill pause pull push rename restart rm rmi start stop tag unpause wait": tool(
        "-f --force -a -q --quiet -t= --time= -v --volumes --platform=",
      ),
      build: {
        ...tool("-t= --tag= --no-cache --pull -q --quiet --target= --build-arg= --platform= --progress=plain|auto|tty"),
        beyond: { does: "read", below: "all", partly: true },
      },
      compose,
      "container context image network system volume": {
        commands: {
          "df inspect list logs ls prune rm stats top": tool(
            "-a --all -q --quiet -f --force --format= --filter= --no-trunc -v",
          ),
        },
      },
      "attach cp create exec load run save": {
        ...nothing,
        same: `-v= --volume=, -e= --env=, -p= --publish=, -P --publish-all, -u= --user=, -w= --workdir=, -d --detach, -i --interactive, -t --tty, -h=
          --hostname=, -l= --label=, -m= --memory=, --network= --net=`,
      },
    },
  },
  kubectl: {
    same: `-f= --filename=, -k= --kustomize=, -n= --namespace=, -A --all-namespaces, -l= --selector=, -o= --output=, -c= --container=, -s=
      --server=, -R --recursive, -p= --patch=, -i --stdin, -t --tty, --context=, --kubeconfig=, --cluster=, --user=`,
    commands: {
      "api-resources api-versions cluster-info describe explain get logs top version": tool(
        "-n= --namespace= -A --all-namespaces -o=wide|json|yaml|name -l= --selector= -f --follow --tail= --since= -c= --container= -w --watch --show-labels --previous -p --all-containers --no-headers --field-selector=",
      ),
      rollout: { commands: { "history status": tool("-n= --namespace= -w --watch --timeout=") } },
      "config cp exec attach debug edit plugin proxy port-forward run": nothing,
    },
  },
  helm: {
    same: "del delete un uninstall, ls list, -n= --namespace=, -i --install, -f= --values=, --kube-context=",
    commands: {
      "env get history lint list ls search show status version": tool(
        "-n= --namespace= -A --all-namespaces -a --all -o=table|json|yaml --filter= -q",
      ),
    },
  },
  gh: {
    same: "new create, ls list, -R= --repo=",
    commands: {
      "issue pr release repo run workflow": {
        same: `-t= --title=, -b= --body=, -F= --body-file= --notes-file=, -f --fill, -d --delete-branch --draft, -m --merge, -r --rebase, -s
          --squash`,
        commands: {
          "checks diff list ls status view": tool(
            "-R= --repo= -L= --limit= -s= --state= --json= -q= --jq= -t= --template= -a= --assignee= -A= --author= -l= --label= -S= --search= -c --comments --log --log-failed -B= --base= -H= --head= --name-only --patch --color= --watch --exit-status",
          ),
        },
      },
      search: tool("-L= --limit= --json= --repo= --state="),
      status: tool(""),
      api: {
        ...nothing,
        same: "-X= --method=, -f= --raw-field=, -F= --field=, -H= --header=, -q= --jq=, -p= --preview=",
      },
      "alias auth browse codespace config extension secret ssh-key variable gist": nothing,
    },
  },
  hg: {
    heads: true,
    same: "ci commit, co up checkout update, mv move ren rename, rm remove, cp copy, -A --addremove, -f --force, -R= --repository=",
    commands: {
      "annotate blame branch branches cat files heads identify id manifest paths status st summary tags":
        tool(hgOptions),
      diff: { ...tool(hgOptions), beyond: { does: "read", below: "all", folder: 1, partly: "history" } },
      log: {
        ...tool(hgOptions),
        beyond: { does: "read", below: "all", folder: 1, only: "-p --patch -g --git", partly: "history" },
      },
    },
  },
  svn: {
    same: "ci commit, co checkout, del rm remove delete, up update, sw switch, cp copy, ren mv move rename, pd pdel propdel, ps pset propset",
    commands: {
      "blame cat info list log ls propget status st": tool(svnOptions),
      diff: { ...tool(svnOptions), beyond: { does: "read", below: "all", folder: 1, partly: "history" } },
    },
  },
};
