import { arrayApi } from '@granary/contract/array';
import { useMemo } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { GroupPage, type Wording } from '../../contract/group-page.tsx';
import { plain } from '../../contract/records.tsx';

const yes = (value: unknown) => (value === 'YES' ? 'yes' : 'no');

const GROUPS: Wording = {
  one: 'group',
  headings: { groupname: 'Group', nfs_gid: 'GID over NFS', smb: 'Over SMB', created_at: 'Created' },
  cells: { smb: ({ smb }) => yes(smb) },
  labels: { group_name: 'Name', nfs_gid: 'GID over NFS', smb: 'Also over SMB' },
};

const LABELS = {
  username: 'Name',
  nfs_uid: 'UID over NFS',
  password: 'Password over SMB',
  groupname: 'Primary group',
  groups: 'Further groups',
};

export default function Nas() {
  const groups = useRead(array.nasGroups.list, {}).data?.groups;
  const users = useMemo((): Wording => {
    const choices = (groups ?? []).map(({ groupname }) => ({ value: groupname, label: groupname }));
    return {
      one: 'user',
      headings: {
        username: 'User',
        nfs_uid: 'UID over NFS',
        groupname: 'Primary group',
        groups: 'Further groups',
        smb: 'Over SMB',
        created_at: 'Created',
      },
      cells: { smb: ({ smb }) => yes(smb), groups: ({ groups: all }) => plain(all) || '–' },
      labels: LABELS,
      choices: { groupname: choices, groups: choices },
    };
  }, [groups]);
  return (
    <>
      <GroupPage
        api={arrayApi}
        group="nasUsers"
        title="NAS users"
        about="People who own files in shares: by a number over NFS. Their passwords are for SMB, which is not served yet. Quotas name them."
        wording={users}
        next="Make one, and quotas and files show a name in place of a number."
      />
      <GroupPage
        api={arrayApi}
        group="nasGroups"
        title="NAS groups"
        about="Groups of those users."
        prefix="groups-"
        wording={GROUPS}
        next="A quota of a group counts the files of all its members."
      />
    </>
  );
}
