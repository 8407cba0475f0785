/** The categories an array comes with. */
export const FIRST_CATEGORIES: readonly (readonly [displayName: string, extensions: string])[] = [
  ['Documents', 'doc docx docm dot dotx odt ott rtf txt md tex pdf ps epub mobi pages'],
  ['Spreadsheets', 'xls xlsx xlsm xlsb ods csv tsv numbers'],
  ['Presentations', 'ppt pptx pptm pps ppsx odp key'],
  ['Pictures', 'jpg jpeg png gif bmp tif tiff webp heic heif svg ico psd ai eps raw cr2 cr3 nef arw dng'],
  ['Audio', 'mp3 wav flac aac m4a ogg oga opus wma aiff aif mid midi'],
  ['Video', 'mp4 m4v mkv avi mov wmv flv webm mpg mpeg m2ts mts 3gp vob'],
  ['Archives', 'zip tar gz tgz bz2 xz zst 7z rar lz4 cab'],
  ['Disk images', 'iso img vmdk vdi vhd vhdx qcow2 ova ovf dmg'],
  ['Databases', 'mdb accdb sqlite sqlite3 db dbf mdf ldf frm ibd'],
  ['Mail', 'pst ost eml msg mbox'],
  ['Source code', 'c h cpp hpp cc cs java kt js mjs cjs jsx tsx py rb go rs php pl sh swift scala sql html css'],
  ['Configuration', 'json xml yaml yml toml ini conf cfg properties'],
  ['Programs', 'exe dll msi so bin app deb rpm apk jar class'],
  ['Logs', 'log trace dmp core'],
  ['Backups', 'bak old orig bkf vbk vib dump'],
  ['Temporary files', 'tmp temp swp part crdownload cache'],
];
