-- What becomes of tags is told with the other events of the tenant, whoever changes them.
create trigger tell_tag_change after insert on svc.tag_change for each row execute function svc.tell_tag_change();
