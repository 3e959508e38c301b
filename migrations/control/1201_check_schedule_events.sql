-- Commits are taken from the sequence of events, because no number appears in it below one that was read.
alter table svc.check_schedule rename column audit_seq to event_sequence;
