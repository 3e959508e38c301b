/** Names of identifiers of goods, orders and devices, whose values can have the form of several classes. */

export const productIdentifiers = `part partno sku product item catalog catalogue article artikel articulo articolo model
  isbn issn ean gtin upc asin barcode imei imeisv imsi iccid meid esn siret siren tracking waybill awb parcel shipment consignment
  container serial serialno lot batch invoice rechnung facture factura fattura order orderno bestellung bestellnummer auftrag
  commande pedido ordine zamowienie siparis ticket rma ndc vin reservation booking pnr coupon voucher docket`
