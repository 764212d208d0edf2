// The demo's page: what was ordered of it, and what became of that.
import { mountOrders } from "./orders.js";

export const mountDemo = (page) => mountOrders(page, `${location.pathname}?part=orders`);
