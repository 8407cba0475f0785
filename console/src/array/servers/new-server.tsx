import { array } from '../../api/array.ts';
import { useGo } from '../../app/base.ts';
import { ActionButton } from '../../contract/action.tsx';
import { IconPlus } from '../../parts/icons.tsx';
import { SERVER_LABELS } from './actions.ts';

/** `stay`: the page it is on goes on with it, and is not left. */
export function NewServer({ stay = false, isMain = true }: { readonly stay?: boolean; readonly isMain?: boolean }) {
  const go = useGo();
  return (
    <ActionButton
      op={array.servers.create}
      label="New server"
      icon={<IconPlus />}
      isMain={isMain}
      fields={['display_name', 'iqn', 'iscsi', 'os']}
      more={['arraychapuser', 'arraychapsecret', 'hostchapuser', 'hostchapsecret', 'ipsec_iscsi', 'ipsec_nfs', 'force']}
      labels={SERVER_LABELS}
      about={
        <>
          For block volumes give the name of its initiator: on Linux it stands in /etc/iscsi/initiatorname.iscsi, on
          Windows (Get-InitiatorPort).NodeAddress shows it. For shares give its address, or a network such as
          10.0.0.0/24.
        </>
      }
      said="The server was added. Next, attach volumes to it."
      onDone={({ value }) => value && !stay && go(`/servers/${value.server_name}`)}
    />
  );
}
