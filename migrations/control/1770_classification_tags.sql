-- Which tag a classification in a contract document gives: a list of {classification, tag}.
alter table svc.read_setting add column classification_tags jsonb not null default '[]'
  check (jsonb_typeof(classification_tags) = 'array');
