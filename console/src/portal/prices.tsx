import { Card, Code, Stack, Table, Text, Title } from '@mantine/core';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { ActionButton } from '../contract/action.tsx';
import { IconUpload } from '../parts/icons.tsx';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';

/** What an hour costs at each provider. */
export default function Prices() {
  const table = useRead(portal.pricing.get, {});
  const providers = useRead(portal.providers.list, {});
  const choices = providers.data?.data.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  return (
    <>
      <PageHead title="Prices" about="USD an hour. A change counts from now on; what was used before keeps its price.">
        <ActionButton
          op={portal.pricing.upload}
          label="Upload a price file"
          icon={<IconUpload />}
          choices={{ provider_ids: choices }}
          about={
            <>
              CSV with the header <Code>kind,key,hourly_price_usd</Code>, or the same as JSON. Kinds: engine, drive,
              cache_gb, app_engine, encryption, public_ip, proxy, public_objs. All of the file is taken, or nothing.
            </>
          }
        />
      </PageHead>
      {table.isPending && <Loading />}
      {table.isError && <Failed error={table.error} retry={() => void table.refetch()} />}
      {table.data && Object.keys(table.data.data.io_engines).length === 0 && (
        <Empty title="There are no providers to have prices." />
      )}
      <Stack>
        {Object.entries(table.data?.data.io_engines ?? {}).map(([key, one]) => (
          <Card key={key} withBorder>
            <Title order={2} size="h4">
              {one.name}
            </Title>
            <Text size="sm" c="dimmed">
              {one.cloud_name}, {one.currency}
            </Text>
            <Table mt="sm">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Engine</Table.Th>
                  <Table.Th ta="right">USD an hour</Table.Th>
                  <Table.Th>Offered</Table.Th>
                  <Table.Th />
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {Object.entries(one.data).map(([engine, { value, available_in_cloud: isOffered }]) => (
                  <Table.Tr key={engine}>
                    <Table.Td>{engine}</Table.Td>
                    <Table.Td ta="right">{value}</Table.Td>
                    <Table.Td>{isOffered ? 'yes' : 'no'}</Table.Td>
                    <Table.Td ta="right">
                      <ActionButton
                        op={portal.providers.setFlavorPrice}
                        label="Set the price"
                        isSmall
                        input={{ provider_id: Number(key.replace(/\D+/, '')), flavor_key: engine }}
                        start={{ price: value }}
                      />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Card>
        ))}
      </Stack>
    </>
  );
}
