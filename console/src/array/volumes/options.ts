import { array } from '../../api/array.ts';

const all = Object.keys(array.volumes.update.endpoint.params);

/** The options of volumes and shares, by what they are about. */
export const reductionFields = ['dedupe', 'compress'];
export const cappingFields = all.filter((name) => name.endsWith('_capping'));
export const shareFields = all.filter((name) => /^(?:nfs|smb|mountsync|atimeupdate|readahead|audit)/.test(name));
