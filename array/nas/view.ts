import { formatUtc } from '@granary/kernel';
import type { NasGroupRow, NasUser } from './repository.ts';

export function userView(user: NasUser) {
  return {
    username: user.name,
    nfs_uid: user.uid,
    smb: yesNo(user.password !== null),
    groupname: user.group_name,
    groups: [...user.groups],
    created_at: formatUtc(user.created_at),
    modified_at: formatUtc(user.modified_at),
  };
}

export function groupView(group: NasGroupRow) {
  return {
    groupname: group.name,
    nfs_gid: group.gid,
    smb: yesNo(group.is_smb === 1),
    created_at: formatUtc(group.created_at),
    modified_at: formatUtc(group.modified_at),
  };
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}
