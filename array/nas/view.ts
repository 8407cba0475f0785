import { formatUtc } from '@granary/kernel';
import type { NasGroup, NasUser } from './account.ts';

export function userView(user: NasUser) {
  return {
    username: user.name,
    nfs_uid: user.uid,
    smb: yesNo(user.password !== null),
    groupname: user.primaryGroup,
    groups: [...user.groups],
    created_at: formatUtc(user.createdAt),
    modified_at: formatUtc(user.modifiedAt),
  };
}

export function groupView(group: NasGroup) {
  return {
    groupname: group.name,
    nfs_gid: group.gid,
    smb: yesNo(group.isSmb),
    created_at: formatUtc(group.createdAt),
    modified_at: formatUtc(group.modifiedAt),
  };
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}
