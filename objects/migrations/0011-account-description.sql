ALTER TABLE accounts ADD COLUMN description TEXT;
