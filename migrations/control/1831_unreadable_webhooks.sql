-- A webhook whose URL and secrets no key opens is switched off, and its list says so.

alter table svc.webhook_subscription drop constraint webhook_subscription_state_check,
  add check (state in ('enabled', 'disabled', 'gone', 'failing', 'unreadable'));
