import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { setConnected } from './connection.ts';
import { usePlaces } from './places.tsx';
import { refresh } from './queries.ts';
import { announceSignedOut, type Place } from './send.ts';

/** Figures made of many records: read again whatever changed. */
const ALWAYS = ['overview', 'forecasts'];
const RECONNECT_MS = 5_000;

/** Follows what changes at the service, and at the array whose pages are open, for as long as it is mounted. */
export function useChangeFeed(): void {
  const client = useQueryClient();
  const bases = [...new Set(Object.values(usePlaces()).flatMap((place) => (place ? [place.base] : [])))];
  const key = bases.join('\n');
  useEffect(() => {
    const stops = key.split('\n').map((base) => follow(client, { base }));
    return () => {
      for (const stop of stops) stop();
    };
  }, [client, key]);
}

function follow(client: QueryClient, place: Place): () => void {
  let source: EventSource;
  let timer: number | undefined;
  let isMissed = false;
  const connect = () => {
    source = new EventSource(`${place.base}/api/changes`);
    source.addEventListener('open', () => {
      setConnected(place.base, true);
      // What happened while there was no connection is not told again.
      if (isMissed) void client.invalidateQueries({ queryKey: [place.base] });
      isMissed = false;
    });
    source.addEventListener('changed', ({ data }) => {
      void refresh(client, place, [...groupsIn(data), ...ALWAYS]);
    });
    source.addEventListener('event', () => void refresh(client, place, ['events', 'messages']));
    source.addEventListener('signed_out', () => {
      if (place.base === '') announceSignedOut();
    });
    source.addEventListener('error', () => {
      isMissed = true;
      setConnected(place.base, false);
      // A refused stream is closed for good; a lost one the browser opens again by itself.
      if (source.readyState === EventSource.CLOSED) timer = window.setTimeout(connect, RECONNECT_MS);
    });
  };
  connect();
  return () => {
    window.clearTimeout(timer);
    source.close();
    setConnected(place.base, true);
  };
}

function groupsIn(data: unknown): string[] {
  const { groups } = JSON.parse(String(data)) as { groups?: unknown };
  return Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [];
}
