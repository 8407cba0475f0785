import { Button, Checkbox, Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { portal } from '../../api/portal.ts';
import { useRead } from '../../api/queries.ts';
import { gigabytes } from '../../parts/format.ts';
import { NumberField } from '../../parts/number-field.tsx';
import { appEngineName } from '../item-names.ts';
import type { PartProps } from './order.tsx';
import type { PortalCloud } from './record.ts';

/** What few orders need: folded away. */
export function Extras(props: PartProps & { readonly cloud: PortalCloud }) {
  const [isOpen, setOpen] = useState(false);
  if (props.order.kind === 'object_storage') return null;
  return (
    <Stack mt="md">
      <Button variant="subtle" size="xs" w="fit-content" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
        {isOpen ? 'Fewer options' : 'More options: cache, network, app engine'}
      </Button>
      {isOpen && <Options {...props} />}
    </Stack>
  );
}

function Options({ order, change, cloud }: PartProps & { readonly cloud: PortalCloud }) {
  const networks = useRead(portal.virtualNetworks.list, {}).data?.data ?? [];
  const engine = cloud.engine_types.find(({ key }) => key === order.engine);
  const { enabled: hasCache, increment_gb: step } = cloud.flash_cache;
  return (
    <>
      {hasCache && (
        <NumberField
          label="Cache beyond the engine’s own, in GiB"
          description={`In steps of ${gigabytes(step)}${engine ? `; the engine has ${gigabytes(engine.cache.base_cache_gb)}` : ''}`}
          min={0}
          max={engine?.cache.max_flash_cache_gb}
          step={step}
          value={order.cacheGb}
          whenEmpty={0}
          onChange={(amount) => change({ cacheGb: amount ?? 0 })}
        />
      )}
      {networks.length > 0 && (
        <Select
          label="Network"
          description="Its first address besides its own; more can be joined later"
          clearable
          data={networks.map(({ id, name, vlan_id: vlan }) => ({ value: String(id), label: `${name}, VLAN ${vlan}` }))}
          value={order.network === undefined ? null : String(order.network)}
          onChange={(id) => change({ network: id === null ? undefined : Number(id) })}
        />
      )}
      {cloud.app_engines.length > 1 && (
        <Select
          label="App engine"
          description="Processors and memory for the management of the array. The engine serves the data."
          data={cloud.app_engines.map(({ name, specs }) => ({
            value: name,
            label: specs ? `${appEngineName(name)}: ${specs}` : appEngineName(name),
          }))}
          value={order.appEngine ?? cloud.app_engines.find((one) => one.default === 'true')?.name ?? null}
          onChange={(name) => change({ appEngine: name ?? undefined })}
          allowDeselect={false}
        />
      )}
      <Checkbox
        label="Two iSCSI targets"
        description="One for each controller, so that servers with several paths use both"
        checked={order.dualTarget}
        onChange={(event) => change({ dualTarget: event.currentTarget.checked })}
      />
    </>
  );
}
