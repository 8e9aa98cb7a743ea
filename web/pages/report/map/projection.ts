/** The Natural Earth projection (Šavrič, Patterson, Jenny): close to how people know the world, without large poles. */
const degrees = Math.PI / 180;

export const mapWidth = 1_000;
/** From 84° north to 57° south: without Antarctica. */
const [north, south] = [84, -57];
const halfWidth = 0.8707 * Math.PI;
const scale = mapWidth / (2 * halfWidth);

const heightAt = (latitude: number): number => {
  const phi = latitude * degrees;
  const p2 = phi * phi;
  const p4 = p2 * p2;
  return phi * (1.007226 + p2 * (0.015085 + p4 * (-0.044475 + 0.028874 * p2 - 0.005916 * p4)));
};

export const mapHeight = Math.ceil((heightAt(north) - heightAt(south)) * scale);

export function project(longitude: number, latitude: number): readonly [x: number, y: number] {
  const phi = latitude * degrees;
  const p2 = phi * phi;
  const p4 = p2 * p2;
  const wide = 0.8707 - 0.131979 * p2 + p4 * (-0.013791 + p4 * (0.003971 * p2 - 0.001529 * p4));
  return [
    mapWidth / 2 + longitude * degrees * wide * scale,
    (heightAt(north) - heightAt(Math.max(south, latitude))) * scale,
  ];
}
