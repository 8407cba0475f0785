import { Stack } from '@mantine/core';
import { portal } from '../api/portal.ts';
import { useMay } from '../app/identity.tsx';
import { GroupPage } from '../contract/group-page.tsx';

const { api } = portal.providers.list;

/** Under which names the storage of clouds is sold. */
export default function Providers() {
  const may = useMay();
  return (
    <Stack gap="xl">
      <GroupPage
        api={api}
        group="providers"
        title="Providers"
        about="Names under which the storage of a cloud is sold."
      />
      {may(portal.providerGroups.list) && (
        <GroupPage
          api={api}
          group="providerGroups"
          title="Provider groups"
          about="Providers that belong together, such as those of a region."
          prefix="groups-"
        />
      )}
    </Stack>
  );
}
