-- Counts the changes of an array and of its drives, whoever makes them: the record in the array's folder carries the
-- same number, so the newer of the two is known after an older copy of this database was restored.
ALTER TABLE arrays ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;

CREATE TRIGGER arrays_revised AFTER UPDATE ON arrays WHEN new.revision = old.revision
BEGIN
  UPDATE arrays SET revision = old.revision + 1 WHERE number = new.number;
END;

CREATE TRIGGER drives_revised AFTER UPDATE OF array, number, policy, has_file ON drives
BEGIN
  UPDATE arrays SET revision = revision + 1 WHERE number IN (new.array, old.array);
END;
