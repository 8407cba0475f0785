import type { Migrations } from '@granary/kernel/sqlite';

const TABLES = `
CREATE TABLE IF NOT EXISTS policies (
  number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  copies INTEGER NOT NULL, data_fragments INTEGER NOT NULL, parity_fragments INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS drives (
  number INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, folder TEXT NOT NULL, node TEXT NOT NULL, zone TEXT NOT NULL,
  capacity INTEGER NOT NULL, policy INTEGER NOT NULL, stage TEXT NOT NULL, batch INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS rings (
  policy INTEGER PRIMARY KEY, version INTEGER NOT NULL, partitions INTEGER NOT NULL, slots INTEGER NOT NULL,
  drives BLOB NOT NULL, rebalanced_at INTEGER);
CREATE TABLE IF NOT EXISTS segment_numbers (drive INTEGER PRIMARY KEY, next INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS doubts (partition INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS keeper (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
`;

/** Policies, drives and rings, in the file of the index. Files from before they had a version may lack some tables. */
export const LAYOUT_MIGRATIONS: Migrations = {
  component: 'layout',
  unversionedTable: 'policies',
  steps: [
    { name: '0001-layout', sql: TABLES },
    { name: '0002-one-shape', sql: TABLES },
  ],
};
