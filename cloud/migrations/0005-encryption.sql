-- When the array's encryption came and went, as its process last reported it: a list in JSON.
ALTER TABLE arrays ADD COLUMN encryption TEXT NOT NULL DEFAULT '[]';
