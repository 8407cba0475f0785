import { Code, Select, Stack, Text } from '@mantine/core';
import { portal } from '../../api/portal.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { ActionButton } from '../../contract/action.tsx';
import { IconUpload } from '../../parts/icons.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { PriceTable } from './table.tsx';

/** What an hour of each item costs at a provider: now, before and from later on. */
export default function Prices() {
  const providers = useRead(portal.providers.list, {});
  return (
    <>
      <PageHead
        title="Prices"
        about="USD per hour. A change counts from now or from a day you choose; what was used before keeps its price."
      >
        <Upload choices={(providers.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))} />
      </PageHead>
      <Reading of={providers}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="There are no providers to have prices.">Make a provider of a cloud first.</Empty>
          ) : (
            <OfProvider providers={data} />
          )
        }
      </Reading>
    </>
  );
}

function OfProvider({ providers }: { readonly providers: readonly { readonly id: string; readonly name: string }[] }) {
  const [chosen, choose] = useAddressText('provider');
  const provider = providers.find(({ id }) => id === chosen) ?? providers[0];
  const id = Number(provider?.id ?? 0);
  const prices = useRead(portal.pricing.list, { provider_id: id });
  return (
    <Stack>
      {providers.length > 1 && (
        <Select
          label="Provider"
          maw={320}
          data={providers.map(({ id: value, name }) => ({ value, label: name }))}
          value={provider?.id ?? null}
          onChange={(value) => choose(value ?? '')}
          allowDeselect={false}
        />
      )}
      <Reading of={prices}>{({ data }) => <PriceTable providerId={id} prices={data} />}</Reading>
    </Stack>
  );
}

function Upload({ choices }: { readonly choices: readonly { readonly value: string; readonly label: string }[] }) {
  return (
    <ActionButton
      op={portal.pricing.upload}
      label="Upload a price file"
      icon={<IconUpload />}
      choices={{ provider_ids: choices }}
      labels={{ provider_ids: 'Providers', file: 'Price file' }}
      said="The prices of the file count from now on."
      about={
        <Text size="sm" component="div">
          CSV with the header <Code>kind,key,hourly_price_usd</Code>, or the same as JSON. Kinds: engine, drive,
          cache_gb, app_engine, encryption, public_ip, proxy, public_objs. All of the file is taken, or nothing.
        </Text>
      }
    />
  );
}
