{{ config(materialized='incremental', unique_key='id') }}
select id, customer, amount from {{ ref('raw_orders') }}
{% if is_incremental() %}
where id > (select coalesce(max(id), 0) from {{ this }})
{% endif %}
