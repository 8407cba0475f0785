import { portal } from '../api/portal.ts';
import { GroupPage } from '../contract/group-page.tsx';

export default function Users() {
  return (
    <GroupPage
      api={portal.users.list.api}
      group="users"
      title="Users"
      about="Who signs in here. An administrator sees and decides everything."
    />
  );
}
