import type { ProgramRecord } from "./record.ts";

/**
 * `find` without actions but printing. It reads one word after another: options before the start folders, then the expression, and each
 * test takes the next word, whatever that looks like.
 */
export const find: ProgramRecord = {
  source: "GNU findutils 4.9.0, find/parser.c, find/util.c (process_leading_options)",
  style: "words",
  reads: {
    options: `-P -O0 -O1 -O2 -O3
      -empty -readable -writable -executable -true -false -nouser -nogroup -prune -quit -print -print0 -ls
      -not ! -a -and -o -or ( ) ,
      -xdev -mount -depth -d -daystart -noleaf -ignore_readdir_race -noignore_readdir_race -nowarn -warn
      -name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -regextype= -lname= -ilname=
      -type= -xtype= -maxdepth= -mindepth= -size= -perm= -user= -group= -uid= -gid= -links= -inum= -fstype= -used=
      -mtime= -mmin= -atime= -amin= -ctime= -cmin= -newermt= -newerat= -newerct= -printf=
      -newer=@ -anewer=@ -cnewer=@ -samefile=@`,
    operands: "paths",
  },
  starts: { actions: "-exec -execdir -ok -okdir" },
};
