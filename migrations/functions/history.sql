-- The partitions of history by month: made ahead of time. They run as their owner, for the job and for administrators.

-- Makes the partitions of this month and the next three that are missing. A month of which rows lie in the default
-- partition already, put there by a clock that is ahead, is left to it. Returns how many it made.
create or replace function svc.keep_months() returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '5s' as $$
declare
  made int := 0;
  parent_name text;
  month timestamptz;
  next_month timestamptz;
  partition_name text;
  is_taken boolean;
begin
  foreach parent_name in array array['query_usage'] loop
    for i in 0..3 loop
      month := (date_trunc('month', now() at time zone 'UTC') + i * interval '1 month') at time zone 'UTC';
      next_month := (month at time zone 'UTC' + interval '1 month') at time zone 'UTC';
      continue when exists (select from svc.month_partition p
        where p.parent = parent_name and p.starts < next_month and p.ends > month);
      execute format('select exists (select from svc.%I where started_at >= $1 and started_at < $2)', parent_name || '_other')
        into is_taken using month, next_month;
      continue when is_taken;
      partition_name := parent_name || '_' || to_char(month at time zone 'UTC', 'YYYY_MM');
      -- Attaching takes a weaker lock on the parent than making a partition of it.
      execute format('create table svc.%I (like svc.%I including defaults including constraints)', partition_name, parent_name);
      execute format('alter table svc.%I enable row level security', partition_name);
      execute format('create trigger append_only before update or delete or truncate on svc.%I
        for each statement execute function svc.refuse_change()', partition_name);
      execute format('alter table svc.%I attach partition svc.%I for values from (%L) to (%L)', parent_name, partition_name, month, next_month);
      insert into svc.month_partition (name, parent, starts, ends) values (partition_name, parent_name, month, next_month);
      made := made + 1;
    end loop;
  end loop;
  return made;
end $$;

revoke all on function svc.keep_months from public;
grant execute on function svc.keep_months to svc_admin;
