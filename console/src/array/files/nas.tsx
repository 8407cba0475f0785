import { arrayApi } from '@granary/contract/array';
import { GroupPage } from '../../contract/group-page.tsx';

export default function Nas() {
  return (
    <>
      <GroupPage
        api={arrayApi}
        group="nasUsers"
        title="NAS users"
        about="People who own files in shares: by a number over NFS, by a password over SMB. Quotas name them."
        empty="There are no NAS users yet. Make one to give a quota a name."
      />
      <GroupPage api={arrayApi} group="nasGroups" title="NAS groups" about="Groups of those users." />
    </>
  );
}
