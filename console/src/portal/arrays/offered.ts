import { portal } from '../../api/portal.ts';
import { choicesFrom, type ChoicesFrom } from '../../contract/chosen-field.tsx';
import type { Choice } from '../../contract/choice.ts';
import { appEngineName } from '../item-names.ts';
import { presentPrices } from '../prices/history.ts';
import type { PortalCloud } from './record.ts';

/** The networks an array could join, with the addresses they have. */
export const joinable = choicesFrom({
  op: portal.arrays.listCompatibleInterfaces,
  choices: ({ data }) =>
    data.map(({ custom_network_id: id, name, cidr }) => ({ value: String(id), label: `${name} · ${cidr}` })),
  none: 'There is no network it could join. Make one on the page of networks.',
});

interface Item extends Choice {
  readonly kind: 'drive' | 'engine' | 'app_engine';
}

export function driveItems({ drive_types: types }: PortalCloud): Item[] {
  return types.map(({ key, name }) => ({ kind: 'drive', value: key, label: name }));
}

export function engineItems({ engine_types: types }: PortalCloud): Item[] {
  return types.map(({ key, name, specs }) => ({ kind: 'engine', value: key, label: `${name}: ${specs}` }));
}

export function appEngineItems({ app_engines: types }: PortalCloud): Item[] {
  return types.map(({ name, specs }) => ({
    kind: 'app_engine',
    value: name,
    label: `${appEngineName(name)}: ${specs}`,
  }));
}

/** The items with what an hour of each costs at this provider, read when the form is opened. */
export function priced(items: readonly Item[], providerId: number): ChoicesFrom {
  return choicesFrom({
    op: portal.pricing.list,
    input: { provider_id: providerId },
    choices: ({ data }) => {
      const prices = presentPrices(data);
      return items.map(({ kind, value, label }) => {
        const price = prices.get(`${kind}:${value}`);
        return { value, label: price === undefined ? label : `${label} · ${price} USD per hour` };
      });
    },
    none: 'There is nothing to choose from.',
  });
}

export function zoneChoices({ zones }: PortalCloud): Choice[] {
  return zones.map(({ allocation_zone_name: name, allocation_zone_disp_name: label }) => ({
    value: name.replace(/^\D+/, ''),
    label,
  }));
}
