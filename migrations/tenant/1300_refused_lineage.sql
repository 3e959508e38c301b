-- Events of which edges were refused are listed, the newest first.
create index lineage_inbox_refused on {{schema}}.lineage_inbox (event_seq desc) where state = 'refused';
create index lineage_event_refused on {{schema}}.lineage_event (event_seq desc) where state = 'refused';
