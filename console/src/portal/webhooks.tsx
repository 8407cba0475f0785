import { portal } from '../api/portal.ts';
import { GroupPage } from '../contract/group-page.tsx';

export default function Webhooks() {
  return (
    <GroupPage
      api={portal.webhooks.list.api}
      group="webhooks"
      title="Webhooks"
      about="Events are sent to these addresses, signed, and tried again until they arrive."
    />
  );
}
